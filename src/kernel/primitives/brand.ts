declare const brand: unique symbol;

/**
 * A `T` that means one thing: a plain `T`, or one of another name, does not compile in its place. It costs nothing at
 * run time. Only the file of a brand casts to it, in its constructors: `as…` checks and breaks an invariant, `parse…`
 * reads texts of strangers, `trusted…` takes values that are known to be right (a row, a checked block), in hot loops
 * too.
 */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };
