#!/bin/bash
# The entry of the image `spark` (Dockerfile). Kubernetes starts Spark's executors with the one word `executor`, and what
# they need to know in variables (SPARK_…); anything else is a command line of the applier's.
set -euo pipefail

if [ "${1:-}" != executor ]; then
    exec applier "$@"
fi
spark_home=$(python -c 'from applier.engine.spark import spark_private; print(spark_private.home())')
mapfile -t options < <(env | sed -n 's/^SPARK_JAVA_OPT_\([0-9]*\)=/\1 /p' | sort -n | cut -d ' ' -f 2-)
exec java "${options[@]}" "-Xms$SPARK_EXECUTOR_MEMORY" "-Xmx$SPARK_EXECUTOR_MEMORY" \
    -cp "${SPARK_CONF_DIR:+$SPARK_CONF_DIR:}$spark_home/jars/*" \
    org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend \
    --driver-url "$SPARK_DRIVER_URL" --executor-id "$SPARK_EXECUTOR_ID" --cores "$SPARK_EXECUTOR_CORES" \
    --app-id "$SPARK_APPLICATION_ID" --hostname "$SPARK_EXECUTOR_POD_IP" \
    --resourceProfileId "$SPARK_RESOURCE_PROFILE_ID" --podName "$SPARK_EXECUTOR_POD_NAME"
