/** Of UTC, in which block times are counted: it knows no leap seconds. */
export const daySeconds = 86_400;
