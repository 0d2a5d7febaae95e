/** Bytes of one file: no reveal can hold more, because a block has 4,000,000 weight units. */
export const fileBytesMax = 4_000_000;
/** Characters of a file's name in its URL, counted from the end: a path may have 400. */
export const urlNameCharsMax = 200;
/**
 * Free bytes that stay on the disk of files, which is often that of the database: a full disk would stop it and all
 * orders.
 */
export const freeBytesMin = 1_000_000_000;
/** Bytes of a file's rows, its disk block and its part of a kept answer: a file of one byte has them too. */
export const besideFile = 4_096;
