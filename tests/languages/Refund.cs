using System;

// é🙂
namespace Shop.Till
{
    public class Refund<T> : Base where T : class
    {
        private int _amount;

        public Refund(int amount) { _amount = amount; }

        ~Refund() { }

        public int Amount { get; set; }

        public int Twice
        {
            get { return _amount * 2; }
        }

        public bool Apply(Order order) => order.Ok;

        [Obsolete]
        async Task<int> LoadAsync()
        {
            int Local(int x) { return x; }
            return await Local(1);
        }

        public static Refund<T> operator +(Refund<T> a, int b) { return a; }

        public int this[int i] { get { return i; } }

        public event EventHandler Done;
    }

    interface ILoader { void Load(); }

    struct Point { public int X; }

    enum State { Open, Closed }

    record Pair(int A, int B);

    delegate void Later(int x);
}
