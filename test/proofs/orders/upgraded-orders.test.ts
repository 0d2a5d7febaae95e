import { continueSavedOrders } from '#test/support/orders/saved/continue-saved-orders.ts';

// `npm test` continues the oldest and the newest saved orders
continueSavedOrders(['0036']);
