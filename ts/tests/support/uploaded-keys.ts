// A native server that has the keys of a small set.
import { Refloat, type KeySet, type RemoteKeys, type Server } from 'refloat';
import { realServer, type RealServer } from './real-server.js';

/** Options of a client whose server goes away and comes back. */
export const PATIENT = { retry: { attempts: 30, firstDelayMs: 50, maxDelayMs: 500 } };

export interface UploadedKeys {
  readonly rf: Refloat;
  readonly real: RealServer;
  readonly server: Server;
  readonly keys: KeySet;
  readonly remote: RemoteKeys;
  close(): Promise<void>;
}

/** Starts a server and uploads keys of `toy10`. */
export async function uploadedKeys(): Promise<UploadedKeys> {
  const rf = await Refloat.load();
  const real = await realServer();
  const server = rf.server(real.url, PATIENT);
  const keys = await rf.keygen('toy10', { allowInsecure: true });
  const remote = await server.uploadKeys(keys);
  const close = async (): Promise<void> => {
    rf.close();
    await real.close();
  };
  return { rf, real, server, keys, remote, close };
}
