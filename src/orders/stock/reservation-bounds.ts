/** Sats of the inventory that orders may have together before they are paid for. */
export interface ReservationBounds {
  /** Sats of one client. */
  readonly client: number;
  /** Sats of all clients of a network. */
  readonly network: number;
  /** Sats of a type, of all clients. */
  readonly type: number;
}

/**
 * Unpaid reservations that all clients of a network may have together. Three customers of one office fit. Without it the
 * owner of a /24, or of an IPv6 /48, which costs as much as one address, would have 256 or 65,536 times as many.
 */
const networkMost = 10;

/**
 * @param most what the client may have (ORDER_RESERVED_MAX, or the bound of its key)
 * @param ofType outputs with sats of the type, whether orders have them or not
 */
export const reservationBounds = (most: number, ofType: number): ReservationBounds => ({
  client: most,
  // an operator who lets one address have more lets its network
  network: Math.max(networkMost, most),
  // who has thousands of addresses closes half of the shop for nothing, and not all of it
  type: Math.max(Math.floor(ofType / 2), 1),
});
