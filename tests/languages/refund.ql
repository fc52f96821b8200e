/** é🙂 */
import javascript

module Shop {
  predicate isOpen(int x) { x = 1 }
}

class Ledger extends Function {
  Ledger() { this.getName() = "a b" }

  int total() { result = 1 }

  predicate isEmpty() { none() }
}

int refund(int amount) { result = amount }

newtype State = Open() or Closed()
