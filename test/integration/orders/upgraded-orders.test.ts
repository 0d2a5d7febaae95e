import { continueSavedOrders } from '#test/support/orders/saved/continue-saved-orders.ts';

/** The last migrations of the oldest and the newest version with a fixture; the proofs use those in between. */
continueSavedOrders(['0030', '0040']);
