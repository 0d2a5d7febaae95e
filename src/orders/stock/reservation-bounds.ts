/** Bounds of inventory sats that unpaid orders may reserve together. */
export interface ReservationBounds {
  /** Sats of one client. */
  readonly client: number;
  /** Sats of all clients of a network. */
  readonly network: number;
  /** Sats of a type, of all clients. */
  readonly type: number;
}

/**
 * Unpaid reservations of all clients of a network together. Three customers of one office fit. Without it the owner of
 * a /24, or of an IPv6 /48, which costs as much as one address, would have 256 or 65,536 times as many.
 */
const networkMost = 10;

/**
 * @param most bound of the client (ORDER_RESERVED_MAX, or the bound of its key) @param ofType outputs with sats of the
 * type, reserved or not
 */
export const reservationBounds = (most: number, ofType: number): ReservationBounds => ({
  client: most,
  // an operator who allows one address more allows its network the same
  network: Math.max(networkMost, most),
  // the owner of thousands of addresses can reserve half of the shop for nothing, but not all of it
  type: Math.max(Math.floor(ofType / 2), 1),
});
