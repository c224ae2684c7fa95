#include <heed/train/cli/program.h>

int main(int argc, char** argv) { return heed::cli::run_program(argc, argv); }
