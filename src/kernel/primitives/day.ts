/** Seconds of a day of UTC, in which block times are counted, without leap seconds. */
export const daySeconds = 86_400;
