export interface TelemetrySettings {
  traces: boolean;
  metrics: boolean;
  exportIntervalMs: number;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Default of the OpenTelemetry specification. */
const EXPORT_INTERVAL_MS = 60_000;

const isExported = (env: Environment, signal: 'TRACES' | 'METRICS'): boolean => {
  const exporter = env[`OTEL_${signal}_EXPORTER`] || undefined;
  if (exporter !== undefined) {
    if (exporter === 'none' || exporter === 'otlp') return exporter === 'otlp';
    throw new Error(`OTEL_${signal}_EXPORTER must be otlp or none, got "${exporter}"`);
  }
  return Boolean(env['OTEL_EXPORTER_OTLP_ENDPOINT'] || env[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`]);
};

/** Reads the standard OpenTelemetry variables that the exporters do not read. */
export const readSettings = (env: Environment): TelemetrySettings => {
  if (env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true') {
    return { traces: false, metrics: false, exportIntervalMs: EXPORT_INTERVAL_MS };
  }
  const settings = { traces: isExported(env, 'TRACES'), metrics: isExported(env, 'METRICS') };
  for (const name of [
    'OTEL_EXPORTER_OTLP_PROTOCOL',
    'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL',
    'OTEL_EXPORTER_OTLP_METRICS_PROTOCOL',
  ]) {
    const protocol = env[name];
    if (protocol && !protocol.startsWith('http/') && (settings.traces || settings.metrics)) {
      throw new Error(
        `${name} must be http/json or http/protobuf, got "${protocol}": use the HTTP port of the collector`,
      );
    }
  }
  const interval = Number(env['OTEL_METRIC_EXPORT_INTERVAL'] || EXPORT_INTERVAL_MS);
  if (!(interval >= 1)) {
    throw new Error(
      `OTEL_METRIC_EXPORT_INTERVAL must be a number of milliseconds, got "${env['OTEL_METRIC_EXPORT_INTERVAL']}"`,
    );
  }
  return { ...settings, exportIntervalMs: interval };
};
