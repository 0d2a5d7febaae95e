// The page for an order id in a path, where the id should not be. The page tells the customer to enter the id.
import { listenToOpening } from './open-order.js';

listenToOpening();
