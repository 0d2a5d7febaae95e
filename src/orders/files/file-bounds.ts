/** Maximum number of bytes of one file. No reveal can contain more, because a block has 4,000,000 weight units. */
export const fileBytesMax = 4_000_000;
/**
 * Maximum number of characters of a file's name in its URL; the last characters are kept. A path may have 400
 * characters.
 */
export const urlNameCharsMax = 200;
/**
 * Minimum number of bytes that must remain free on the disk of files. The database is often on the same disk, and a
 * full disk would stop the database and all orders.
 */
export const freeBytesMin = 1_000_000_000;
/**
 * Estimated bytes that each file needs in addition to its content: its rows, its disk block and its part of a kept
 * answer.
 */
export const besideFile = 4_096;
