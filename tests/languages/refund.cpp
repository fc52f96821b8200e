// é🙂
namespace shop::till {

class Ledger : public Base {
public:
    Ledger() : total_(0) {}
    ~Ledger();
    virtual int total() const { return total_; }
    void add(int entry);
    Ledger &operator+=(int x) { return *this; }
    template <typename T> T as() { return T(); }
private:
    int total_;
};

int *find() { return nullptr; }

}  // namespace shop::till

using namespace shop::till;

Ledger::~Ledger() {}

void Ledger::add(int entry)
{
    auto check = [](int v) { return v > 0; };
    total_ += entry;
}

template <typename T>
T refund(T amount)
{
    return amount;
}

template <typename T>
class Box {
    T get() const;
};

template <typename T>
T Box<T>::get() const { return T(); }

std::vector<int> a::b::c::list() { return {}; }

const Ledger &ref(const Ledger &x) { return x; }

struct Point { int x; };
enum class State : int { Open };
using Amount = int;
extern "C" {
int plain(void) { return 1; }
}
