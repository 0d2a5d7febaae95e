/** Whether the user agent of a node (`subversion` of `getnetworkinfo`) is that of Bitcoin Knots. Total. */
export const isKnots = (userAgent: unknown): boolean =>
  typeof userAgent === 'string' && userAgent.includes('/Knots:');
