#!/bin/sh
# run_once.sh FOLDER COMMAND [ARGUMENT...]: runs a job's command, but never twice.
# With FOLDER/held, it is not to run yet.
# FOLDER/claim, a link, says whose it is: who comes second ends at once, as does who cannot claim it.
# With FOLDER/asked, which is there before a signal is sent, the command is not begun any more: who is
# to become it may not have been there for the signal, or not have heard it.
# FOLDER/started and FOLDER/ended, which has the exit status, are as old as what they tell of.
# FOLDER/place, of a batch system, has the environment and the folder of the command; FOLDER/alive is
# made anew every ten seconds then, for nobody else can tell whether the command runs; and a signal that
# FOLDER/signal names is sent then, for a batch system may have forgotten what runs.
trap : HUP INT TERM  # the command gets them, too
folder=$1
shift
[ -e "$folder/held" ] && exit 0
ln -s "$$" "$folder/claim" 2>/dev/null || exit 0
(: > "$folder/started") 2>/dev/null
beat=
if [ -e "$folder/place" ]
then
  (
    trap '' HUP INT TERM
    while kill -0 "$$"
    do
      : > "$folder/alive"
      signal=$(cat "$folder/signal") && rm "$folder/signal" && kill -s "$signal" 0
      sleep 10
    done
  ) > /dev/null 2>&1 &
  beat=$!
  . "$folder/place"
fi
([ -e "$folder/asked" ] && exit 143; exec "$@") # which is a program even if the shell has a command of that name
status=$?
until echo "$status" 2>/dev/null > "$folder/ended.new" && mv "$folder/ended.new" "$folder/ended"
do
  [ -d "$folder" ] || break
  sleep 1 # the disk is full
done
[ -z "$beat" ] || kill -KILL "$beat"
exit "$status"
