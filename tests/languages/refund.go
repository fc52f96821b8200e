package shop

// é🙂
func Refund(order *Order, amount int) (bool, error) {
	check := func(v int) bool { return v > 0 }
	return check(amount), nil
}

type Order struct {
	ID string
}

type (
	Loader interface {
		Load() error
	}
	Amount = int
	Names  []string
)

func (o *Order) Load() error { return nil }

func (s Stack[T]) Push(x T) {
}

func (Order) String() string { return `raw
text` }

func Map[T any](xs []T, f func(T) T) []T { return xs }
