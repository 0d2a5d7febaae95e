import { SatributeBook } from '#kernel/satributes/satribute-book.ts';

const book = new SatributeBook('regtest');

/** This version's definitions of satributes, on regtest. */
export const regtestSatributes = (): SatributeBook => book;
