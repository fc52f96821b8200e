(* é🙂 *)
let refund amount =
  let check v = v > 0 in
  check amount

let limit = 5

let rec walk = function
  | [] -> 0
  | _ :: rest -> walk rest

and twice x = x * 2

type state = Open | Closed

module Till = struct
  let ring () = ()
end

module type LOADER = sig
  val load : unit -> unit
end

class ledger = object
  method total = 0
end

exception Failed of string

let ( >>= ) x f = f x
