/** Maximum numbers of inventory sats that unpaid orders may reserve. */
export interface ReservationBounds {
  /** Maximum for one client. */
  readonly client: number;
  /** Maximum for all clients of one network together. */
  readonly network: number;
  /** Maximum for one type of sats, for all clients together. */
  readonly type: number;
}

/**
 * Maximum number of unpaid reservations for all clients of a network together. It is enough for three customers in one
 * office. Without this bound, the owner of a /24 or of an IPv6 /48 could reserve 256 or 65,536 times as much as one
 * client. Such a network costs as little as one IP address.
 */
const networkMost = 10;

/**
 * Computes the bounds for one client and one type of sats.
 *
 * @param most maximum of the client (ORDER_RESERVED_MAX, or the bound of its key)
 * @param ofType number of outputs with sats of the type, reserved or not
 */
export const reservationBounds = (most: number, ofType: number): ReservationBounds => ({
  client: most,
  // if the operator allows more sats for one client, the network of the client may also have more
  network: Math.max(networkMost, most),
  // someone with thousands of IP addresses can reserve half of the inventory without paying, but not all of it
  type: Math.max(Math.floor(ofType / 2), 1),
});
