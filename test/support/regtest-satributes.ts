import { SatributeBook } from '#kernel/satributes/satribute-book.ts';

const book = new SatributeBook('regtest');

/** The definitions of this version, on regtest. */
export const regtestSatributes = (): SatributeBook => book;
