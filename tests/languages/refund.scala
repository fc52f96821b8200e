package shop

// é🙂
object Till {
  def refund(order: Order, amount: Int = 0): Boolean = {
    def check(v: Int) = v > 0
    check(amount)
  }

  val limit = 5
}

case class Order(id: String) extends Base {
  def load(): Unit = {}
  private def +(other: Order): Order = this
}

trait Loader {
  def load(): Unit
  type Out
}

abstract class Ledger[T] {
  def total: Int
  class Entry
}

package inner {
  class Deep
}
