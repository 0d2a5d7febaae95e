/** Types of orders, as answers name them: `bulk` is a managed one. */
export const orderKinds = ['direct', 'bulk'] as const;

export type OrderKind = (typeof orderKinds)[number];
