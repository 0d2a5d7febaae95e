// The page for an order's id in a path, where the id should not be. The page asks for the id.
import { listenToOpening } from './open-order.js';

listenToOpening();
