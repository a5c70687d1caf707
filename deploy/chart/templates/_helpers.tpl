{{- define "placard.selectorLabels" -}}
app.kubernetes.io/name: placard
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "placard.labels" -}}
{{ include "placard.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | quote }}
{{- end }}

{{- define "placard.fullname" -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" }}-placard
{{- end }}
