/**
 * Addresses and public keys for examples. They belong to no one. Their private keys are the sha256 of "satscribe
 * example 1" and of "satscribe example 2".
 */
export const exampleSigners = {
  paymentAddress: 'bc1qm54r9vfqzu0hjjslvecupdshyvdlxed70cuguc',
  paymentPublicKey: '03082ea081b70a01fb1fed85d5212aada528609820b5af61fc9d0e035bd4c4e00c',
  ordinalAddress: 'bc1p6y739pa48z40k0pn9anhatygc474evw5z7p0f9cnsx53lxhldnmq6pnx5s',
  ordinalPublicKey: 'c4954c1bb444f97a6cecad1a87f131666c226b7042f2ba1b05333b62749db5ca',
} as const;
