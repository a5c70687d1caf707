import type { Log, Telemetry } from '../service/index.ts';

export interface RunningTelemetry extends Telemetry {
  /** Exports pending data. Resolves without an error if the collector is unreachable. */
  stop(): Promise<void>;
}

export interface TelemetryOptions {
  env: Readonly<Record<string, string | undefined>>;
  version: string;
  log: Log;
}
