#ifndef REFUND_H
#define REFUND_H
/* é🙂 */
#ifdef __cplusplus
extern "C" {
#endif

struct order { int id; };
typedef struct order order_t;
int refund(struct order *order);

static inline int twice(int x)
{
    return x * 2;
}

#ifdef __cplusplus
}

class Till {
    int open() { return 1; }
    int close();
};
#endif
#endif
