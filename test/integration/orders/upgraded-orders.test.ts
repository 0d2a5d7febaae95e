import { continueSavedOrders } from '#test/support/orders/saved/continue-saved-orders.ts';

/** The last migrations of the oldest and the newest version that left a fixture; the proofs have those between. */
continueSavedOrders(['0030', '0040']);
