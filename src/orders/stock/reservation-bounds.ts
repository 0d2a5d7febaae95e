/** Maximum numbers of inventory sats that unpaid orders may reserve. */
export interface ReservationBounds {
  /** Maximum for one client. */
  readonly client: number;
  /** Maximum for all clients of one network together. */
  readonly network: number;
  /** Maximum for one type of sats, over all clients. */
  readonly type: number;
}

/**
 * Maximum number of unpaid reservations for all clients of a network together. Three customers in one office fit.
 * Without this bound, the owner of a /24 or of an IPv6 /48 could reserve 256 or 65,536 times as many. Such a network
 * costs as much as one address.
 */
const networkMost = 10;

/**
 * @param most maximum of the client (ORDER_RESERVED_MAX, or the bound of its key)
 * @param ofType number of outputs with sats of the type, reserved or not
 */
export const reservationBounds = (most: number, ofType: number): ReservationBounds => ({
  client: most,
  // an operator who allows one client more also allows it to the client's network
  network: Math.max(networkMost, most),
  // the owner of thousands of addresses can reserve half of the inventory for nothing, but not all of it
  type: Math.max(Math.floor(ofType / 2), 1),
});
