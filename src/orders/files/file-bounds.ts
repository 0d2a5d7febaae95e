/** Bytes of one file: no reveal can hold more, as a block has 4,000,000 weight units. */
export const fileBytesMax = 4_000_000;
/** Characters of the name of a file in its URL, with its end: a path may have 400. */
export const urlNameCharsMax = 200;
/** Left on the disk of files, which often is that of the database: without room it stops, and all orders with it. */
export const freeBytesMin = 1_000_000_000;
/** Rows of a file, its block on disk and its part of an answer that is kept: a file of one byte has them too. */
export const besideFile = 4_096;
