import { continueSavedOrders } from '#test/support/orders/saved/continue-saved-orders.ts';

/** The last migrations of the oldest and the newest version with a fixture. The proofs use the versions in between. */
continueSavedOrders(['0030', '0040']);
