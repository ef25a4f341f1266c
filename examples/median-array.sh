#!/bin/sh
# A median in 12 shards on a cluster, assembled when all are done:
#   job=$(sbatch --parsable median-array.sh)
#   sbatch --dependency="afterok:$job" --wrap 'sectile assemble median.fits'
#SBATCH --job-name=median
#SBATCH --array=1-12
#SBATCH --requeue
#SBATCH --mem=1G
exec sectile median exposures.txt -o median.fits --memory 512MiB --shard "$SLURM_ARRAY_TASK_ID/12"
