/** SQLSTATE of a statement that names a missing table or schema. */
const undefinedTable = '42P01';

/** The result of a query outside of a transaction; null if the database lacks its table. */
export async function unlessTableMissing<Result>(reading: Promise<Result>): Promise<Result | null> {
  try {
    return await reading;
  } catch (error) {
    if ((error as { code?: unknown }).code === undefinedTable) return null;
    throw error;
  }
}
