#!/usr/bin/env bash
# Tests meson install, and builds a program of another project with the installed library.
. "$(dirname "$0")/lib.sh"
root=$work/root
check "meson install" meson install -C "$HM_BUILD" --no-rebuild --destdir "$root" --quiet
prefix=$root/usr/local
library=$(dirname "$(find "$prefix" -name 'libhowmany.so' | head -n 1)")
check "program" test -x "$prefix/bin/howmany"
check "program of the ranks of calibrate" test -x "$prefix/bin/howmany-links"
for header in include/*.h; do
  check "header $(basename "$header")" test -f "$prefix/$header"
done
check "static library" test -f "$library/libhowmany.a"
check "pkg-config file" test -f "$library/pkgconfig/howmany.pc"
check "catalog" test -f "$prefix/share/howmany/catalog/machines.yaml"
check "examples" test -f "$prefix/share/doc/howmany/examples/fig1.yaml"
outside() { # Outside the source folder, messages and help name the installed guides and examples, which exist.
  echo nothing >"$work/unknown.bin"
  (cd "$work" && "$prefix/bin/howmany" import unknown.bin) 2>"$work/said"
  local guide=$(grep -o '[^ ]*/docs/reference/formats.md' "$work/said")
  [ -s "$guide" ] || { cat "$work/said" && return 1; }
  local example=$(cd "$work" && "$prefix/bin/howmany" plan --help | sed -n '/^examples:/,$p' | grep -o '/[^ ]*/examples/resnet50.yaml')
  [ -s "$example" ]
}
check "messages and help find the installed guides and examples" outside
check "bash completion" test -s "$prefix/share/bash-completion/completions/howmany"
check "zsh completion" test -s "$prefix/share/zsh/site-functions/_howmany"
check "fish completion" test -s "$prefix/share/fish/vendor_completions.d/howmany.fish"
if [ -n "$(find "$prefix" -name 'howmany.1*')" ]; then
  for page in howmany howmany-plan howmany-catalog howmany-validate howmany-train howmany-calibrate; do
    check "man page $page" test -s "$prefix/share/man/man1/$page.1"
  done
else
  skip "man pages" "built without scdoc"
fi

export ASAN_OPTIONS=detect_leaks=0 # Open MPI leaves memory behind
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 # Tests in containers run as root.
check "the installed program finds its ranks" bash -c "'$prefix/bin/howmany' train -d digits:50 -i 1 | grep -q summary"
if [ -n "${HM_SMPIMAIN:-}" ]; then
  check "and its simulated ones" bash -c "'$prefix/bin/howmany' train -d digits:50 -i 1 -n 4 --simulate '$prefix/share/doc/howmany/examples/cluster-study.yaml' | grep -q summary"
fi

cat >"$work/client.c" <<'END'
#include <howmany.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    struct hm_err err = {0};
    struct hm_job *job = NULL;
    struct hm_answer *answer = NULL;
    struct hm_question question = HM_QUESTION_INIT;
    if (argc == 2 && hm_job_load(argv[1], NULL, 0, &job, &err) == 0 &&
        hm_plan(job, NULL, 0, NULL, 0, &question, &answer, &err) == 0)
        printf("%g workers\n", answer->points[answer->best].n);
    hm_answer_free(answer);
    hm_job_free(job);
    return err.code != 0;
}
END
export PKG_CONFIG_PATH=$library/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root
flags=
grep -q 'b_sanitize.*address' "$HM_BUILD/meson-info/intro-buildoptions.json" &&
  meson introspect "$HM_BUILD" --buildoptions | jq -e '.[] | select(.name == "b_sanitize") | .value != "none"' >/dev/null &&
  flags=-fsanitize=address,undefined
client() { # LINK OPTIONS…
  $HM_CC $flags -Wall -Wextra -Werror "$work/client.c" -o "$work/client" \
    $(pkg-config --cflags howmany) "$@" &&
    [ "$(LD_LIBRARY_PATH=$library "$work/client" examples/fig1.yaml)" = "14 workers" ]
}
check "a program against the shared library" client $(pkg-config --libs howmany)
check "a program against the static library" client "$library/libhowmany.a" -lyaml -lm $([ "$HM_ZLIB" = 1 ] && echo -lz) $([ "$HM_ZSTD" = 1 ] && echo -lzstd) $([ "$HM_METIS" = 1 ] && echo -lmetis) $([ "$HM_SQLITE" = 1 ] && echo -lsqlite3) $([ "$HM_POSTGRES" = 1 ] && echo -lpq)
examples() { # Build and run each program of examples/c with the installed headers and library.
  local file
  for file in $(ls "$prefix"/share/doc/howmany/examples/c/*.c | grep -v /ps_); do
    $HM_CC $flags -Wall -Wextra -Werror "$file" -o "$work/example" $(pkg-config --cflags --libs howmany) &&
      LD_LIBRARY_PATH=$library "$work/example" >/dev/null || return 1
  done
}
if [ -n "${HM_REDUCE:-}" ]; then
  servers() { # A program of parameter servers with the installed header and library.
    mpicc $flags -Wall -Wextra -Werror "$prefix/share/doc/howmany/examples/c/ps_logistic.c" -o "$work/servers" $(pkg-config --cflags --libs howmany-ps) -lm &&
      LD_LIBRARY_PATH=$library timeout 60 mpirun --oversubscribe -n 3 "$work/servers" | grep -q '2 workers, mean loss'
  }
  check "a program of parameter servers against the installed library" servers
fi
check "the guides are installed" test -s "$prefix/share/doc/howmany/docs/reference/plan.md" -a ! -e "$prefix/share/doc/howmany/docs/meson.build"
check "the examples against the installed library" examples
if command -v g++ >/dev/null; then
  for header in "$prefix"/include/howmany*.h; do
    check "$(basename "$header") is C++ too" g++ -std=c++17 -x c++ -fsyntax-only -Wall -Werror "-I$prefix/include" "$header"
  done
else
  skip "the headers are C++ too" "g++ is not installed"
fi
archive() { # the archive of make dist has the version in its name and the sources inside
  local version=$(howmany --version | cut -d' ' -f2)
  tools/make-dist --no-test "$work" && tar -tzf "$work/howmany-$version.tar.gz" >"$work/list" && grep -qx "howmany-$version/meson.build" "$work/list"
}
if git rev-parse --verify -q HEAD >/dev/null 2>&1; then
  check "make dist makes an archive" archive
else
  skip "make dist makes an archive" "not a git checkout"
fi
finish
