import { continueSavedOrders } from '#test/support/orders/saved/continue-saved-orders.ts';

// the oldest and the newest of them are part of `npm test`
continueSavedOrders(['0036']);
