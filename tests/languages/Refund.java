package shop;

// é🙂
public class Refund<T> extends Base {
    private int amount = 0;

    public Refund(int amount) {
        this.amount = amount;
    }

    @Override
    public boolean apply(Order order) throws Failed {
        Runnable later = new Runnable() {
            public void run() {}
        };
        return amount > 0;
    }

    boolean apply(Order order, int times) { return true; }

    static class Inner {
        void deep() {}
    }

    enum State {
        OPEN, CLOSED;
        boolean isOpen() { return this == OPEN; }
    }
}

interface Loader {
    void load();
    default void twice() {}
}

record Point(int x, int y) {
    Point {
    }
    int sum() { return x + y; }
}

@interface Marker {
    String value();
}
