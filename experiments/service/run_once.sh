#!/bin/sh
# run_once.sh FOLDER COMMAND [ARGUMENT...]: runs a job's command, but never twice.
# FOLDER/claim, a link, says whose it is: who comes second ends at once. FOLDER/started and
# FOLDER/ended, which has the exit status, are as old as what they tell of.
folder=$1
shift
ln -s "$$" "$folder/claim" 2>/dev/null || exit 0
: > "$folder/started"
"$@" &
child=$!
trap 'kill -TERM "$child" 2>/dev/null' HUP INT TERM
wait "$child"
status=$?
while kill -0 "$child" 2>/dev/null; do # only the wait was interrupted
  wait "$child"
  status=$?
done
echo "$status" > "$folder/ended.new"
mv "$folder/ended.new" "$folder/ended"
exit "$status"
