# é🙂
defmodule Shop.Till do
  @moduledoc "Text  here"

  def refund(order, amount \\ 0) do
    amount > 0
  end

  defp check(value) when value > 0, do: true
  defp check(_), do: false

  defmacro twice(x) do
    x
  end

  defmodule Inner do
    def deep, do: 1
  end

  defstruct [:id]
end

defprotocol Load do
  def load(x)
end

defimpl Load, for: Order do
  def load(x), do: x
end
