package shop

// é🙂
fun refund(order: Order, amount: Int = 0): Boolean {
    fun check(v: Int): Boolean = v > 0
    return check(amount)
}

data class Order(val id: String) {
    val total: Int
        get() = 0

    constructor(n: Int) : this(n.toString())

    fun load() {}

    companion object {
        fun open(): Order = Order("x")
    }
}

interface Loader {
    fun load()
}

object Till {
    fun ring() = Unit
}

enum class State {
    OPEN, CLOSED;

    fun isOpen() = this == OPEN
}

sealed class Result<out T>

typealias Amount = Int

fun String.shout(): String = uppercase()

suspend fun <T> later(x: T): T = x
