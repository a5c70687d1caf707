import type { RunningTelemetry, TelemetryOptions } from './running-telemetry.ts';
import { readSettings } from './settings.ts';

/**
 * Starts OpenTelemetry if the standard `OTEL_…` variables enable it. Otherwise returns `null` and loads nothing. Throws if the
 * variables request a protocol other than OTLP over HTTP.
 */
export const startTelemetry = async (options: TelemetryOptions): Promise<RunningTelemetry | null> => {
  const settings = readSettings(options.env);
  if (!settings.traces && !settings.metrics) return null;
  const { createOpenTelemetry } = await import('./open-telemetry.ts');
  return createOpenTelemetry(settings, options);
};
