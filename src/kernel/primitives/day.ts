/** Number of seconds of a UTC day without leap seconds, as in block times. */
export const daySeconds = 86_400;
