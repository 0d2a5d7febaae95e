// The page for an order's id in a path: it asks for the id.
import { listenToOpening } from './open-order.js';

listenToOpening();
