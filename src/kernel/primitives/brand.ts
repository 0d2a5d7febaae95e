declare const brand: unique symbol;

/**
 * A `T` with one meaning. A `T` without a brand, or with another brand, does not compile in its place. A brand costs
 * nothing at run time. Only the file of a brand casts to it, in three kinds of functions. `as…` asserts that a value is
 * right. `parse…` reads texts of strangers. `trusted…` accepts values that are known to be right (from a row or a
 * checked block), also in hot loops.
 */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };
