// é🙂
#import "Refund.h"

@interface Ledger : NSObject
@property (nonatomic) int total;
- (void)add:(int)entry;
@end

@implementation Ledger

- (void)add:(int)entry
{
    self.total += entry;
}

+ (instancetype)ledgerWith:(int)a and:(int)b {
    return nil;
}

@end

@protocol Loader
- (void)load;
@end

static int refund(int amount)
{
    return amount > 0;
}
