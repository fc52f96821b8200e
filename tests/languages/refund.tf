# é🙂
resource "shop_refund" "main" {
  name = "a  b" # said

  tags {
    id = 1
  }
}

variable "amount" {
  default = 0
}

locals {
  x = 1
}
