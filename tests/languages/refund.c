#include <stdio.h>

/* é🙂 */
int refund(struct order *order, int amount)
{
    return amount > 0; /* yes */
}

static struct order *
find_order(const char *name)
{
    return 0;
}

char **names(void) { return 0; }

int (*chooser(int which))(int)
{
    return 0;
}

struct order {
    int id;
    struct { int x; } inner;
};

typedef struct {
    int a;
} pair_t;

typedef int (*callback)(int);

enum state { OPEN, CLOSED };

union bits { int a; };

#ifdef WITH_TILL
static inline void till(void) {}
#endif

#define SQUARE(x) ((x) * (x))

int declared(int x);

int old_style(a, b)
    int a;
    int b;
{
    return a + b;
}
