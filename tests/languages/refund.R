# é🙂
refund <- function(order, amount = 0) {
  check <- function(v) v > 0
  check(amount) # said
}

twice = function(x) {
  x * 2
}

limit <- 5

"quoted name" <- function() "a  b"
