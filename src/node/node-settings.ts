import type { NetworkName } from '#kernel/primitives/network.ts';

/** How we authenticate. A cookie file is read again whenever the node refuses its last content. */
export type NodeAuth =
  | { readonly kind: 'none' }
  | { readonly kind: 'cookie'; readonly file: string }
  | { readonly kind: 'password'; readonly user: string; readonly password: string };

/** Address of a node. A user and password in `rpcUrl` are used if `auth` is absent. */
export interface NodeSettings {
  readonly rpcUrl: string;
  /** Absent: REST at the RPC address. */
  readonly restUrl?: string | undefined;
  readonly auth: NodeAuth;
  /** One ZMQ address for all topics. Absent: asked of the node. */
  readonly zmq?: string | undefined;
  /** Refuses a node of another network. */
  readonly network?: NetworkName | undefined;
}
