// The page of an order whose id is in its path: it asks for the id.
import { listenToOpening } from './open-order.js';

listenToOpening();
