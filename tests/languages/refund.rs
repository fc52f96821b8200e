//! Refunds.

// é🙂
pub fn refund(order: &Order, amount: u32) -> bool {
    fn check(value: u32) -> bool {
        value > 0
    }
    check(amount)
}

#[derive(Debug)]
pub struct Order<T> {
    id: T,
}

struct Unit;

enum State {
    Open,
    Closed(u32),
}

pub trait Load {
    type Out;
    fn load(&self) -> Self::Out;
    fn twice(&self) {}
}

impl<T> Order<T> {
    pub const fn new(id: T) -> Self {
        Order { id }
    }
}

impl<T: Clone> Load for Order<T> {
    type Out = T;
    fn load(&self) -> T {
        self.id.clone()
    }
}

impl fmt::Display for till::Drawer {
    fn fmt(&self) {}
}

mod inner {
    pub(crate) async fn deep() {}
}

type Amount = u32;

macro_rules! say {
    ($x:expr) => { $x };
}

union Bits {
    a: u32,
}
