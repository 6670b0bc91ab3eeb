#!/bin/sh
# Copy the notes folder once a day and keep the last seven copies.
set -eu

source_dir="${1:?usage: backup.sh SOURCE TARGET}"
target_dir="${2:?usage: backup.sh SOURCE TARGET}"
today=$(date +%Y-%m-%d)
archive="$target_dir/notes-$today.tar.gz"

if [ -e "$archive" ]; then
	echo "already done: $archive" >&2
	exit 0
fi

mkdir -p "$target_dir"
tar -czf "$archive.part" -C "$source_dir" . && mv "$archive.part" "$archive"

# Newest first; everything from the eighth on may go.
ls -1t "$target_dir"/notes-*.tar.gz | tail -n +8 | while IFS= read -r old; do
	rm -- "$old"
done
