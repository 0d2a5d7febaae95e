/** Types of orders in answers: `bulk` is a managed order. */
export const orderKinds = ['direct', 'bulk'] as const;

export type OrderKind = (typeof orderKinds)[number];
